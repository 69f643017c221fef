/** The Python libraries for a file of tests: where Python can't be had, its tests are skipped, and loudly; never on the build machine. */
import { afterAll, test } from 'bun:test'
import { IS_BUILD_MACHINE } from '@test/support/bare-environment'
import { preparePython } from './environment'
import { type PythonLibrary, startPythonLibraries } from './libraries'

/** Starts them, and stops them after the file's tests; none if they can't be had. */
export async function openPythonLibraries(): Promise<PythonLibrary[]> {
  const python = await preparePython('sdks', (line) => process.stderr.write(`${line}\n`))
  if (python === undefined && IS_BUILD_MACHINE) throw new Error('the build machine tests the Python clients')
  if (python === undefined) test.skip('the Python clients')
  const libraries = python === undefined ? [] : startPythonLibraries(python)
  afterAll(async () => {
    for (const { worker } of libraries) await worker.stop()
  })
  return libraries
}
