/** Builds the dashboard before the first start, for container images with a read-only file system. */
import { createLogger } from '@/lib/logger'
import { loadAssets } from './load'

await loadAssets(createLogger({ level: 'info', write: (line) => process.stdout.write(line), service: 'svc' }))
