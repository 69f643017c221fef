/** The single executable's entry: the gateway, or operator commands after `admin`. */
const isCommand = process.argv[2] === 'admin'
if (isCommand) process.argv.splice(2, 1)

// Both are complete programs that read the remaining arguments and end the process.
await (isCommand ? import('./cli/main') : import('./main'))

export {}
