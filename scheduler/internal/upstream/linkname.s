// The functions of stepper.go and volumebinding.go without a body are Kubernetes' own.
