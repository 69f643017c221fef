/** Loaded into a gateway ahead of its own code: takes its descriptors when it gets SIGUSR2. */
import { takeDescriptors } from './take-descriptors'

process.on('SIGUSR2', takeDescriptors)
