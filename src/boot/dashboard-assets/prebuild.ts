/** Builds the dashboard ahead of the first start, for a container image whose files can't be written later. */
import { createLogger } from '@/lib/logger'
import { loadAssets } from './load'

await loadAssets(createLogger({ level: 'info', write: (line) => process.stdout.write(line), service: 'svc' }))
