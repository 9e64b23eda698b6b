package cases_test

func removeProgram() {}
