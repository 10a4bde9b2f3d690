echo "formatter: file written"
