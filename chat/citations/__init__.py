"""Citations: their markers, their verification and the words they light."""
