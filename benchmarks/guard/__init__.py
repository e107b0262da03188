"""A guard against getting slower: instructions counted, which no other load on the machine changes."""
