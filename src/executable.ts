/** The entry of the single executable: the gateway, or with `admin …` the commands of operators. */
const isCommand = process.argv[2] === 'admin'
if (isCommand) process.argv.splice(2, 1)

// Each is a program of its own, which reads the words that follow and ends the process.
await (isCommand ? import('./cli/main') : import('./main'))

export {}
