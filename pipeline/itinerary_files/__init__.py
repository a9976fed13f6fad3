"""The itinerary files that a carrier's provider mails: found in what was given, read in bounded children, kept in an archive."""
