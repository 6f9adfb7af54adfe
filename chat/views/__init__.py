"""What browsers ask of chat. Each view authorises, parses, calls once, answers."""
