"""Programs that measure, for whoever develops this project; none is in the wheel."""
