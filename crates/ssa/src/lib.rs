//! Segment search arguments: taken apart, checked against a view, and tried on segments.
