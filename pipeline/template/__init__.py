"""What a person begins with: the blank input workbook, and a carrier profile with every key explained."""
