"""The component of the Overview: bars of the models and cells of the labels."""
