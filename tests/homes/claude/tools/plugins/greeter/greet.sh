echo "greeter: hello"
