/** A Python library in a process of its own: `worker.py` is its side. */
import { join } from 'node:path'
import { startWorker, type Worker } from '@test/clients/worker'

/** Starts `<module>.py` of this folder under `python`. */
export function startPythonWorker(python: string, module: string): Worker {
  const environment = { PYTHONDONTWRITEBYTECODE: '1', PYTHONUTF8: '1' }
  return startWorker([python, join(import.meta.dir, 'worker.py'), module], environment)
}
