"""What commands tell of models: runs, audits, conversions and hardening."""
