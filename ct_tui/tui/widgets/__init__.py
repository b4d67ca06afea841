"""What the workstation draws: lists, detail, pictures and lines, all of inert pieces."""
