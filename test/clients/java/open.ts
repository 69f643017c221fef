/** The Java libraries for a file of tests, each in a process of its own. */
import { afterAll, test } from 'bun:test'
import { startWorker, type Worker } from '@test/clients/worker'
import { IS_BUILD_MACHINE } from '@test/support/bare-environment'
import { prepareJava } from './environment'
import { JAVA_LIBRARIES, type JavaLibrary, libraryOf } from './libraries'

/** The compiler of the JVM would take more of a test's processor time than the test. */
const JVM_OPTIONS = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xshare:auto', '-Dfile.encoding=UTF-8']

/** Starts them, and stops them after the file's tests; none if they can't be had, which is never so on the build machine. */
export async function openJavaLibraries(): Promise<JavaLibrary[]> {
  const classPath = await prepareJava((line) => process.stderr.write(`${line}\n`))
  if (classPath === undefined && IS_BUILD_MACHINE) throw new Error('the build machine tests the Java clients')
  if (classPath === undefined) test.skip('the Java clients')
  const workers: Worker[] = []
  const libraries = JAVA_LIBRARIES.flatMap((declared) => {
    if (classPath === undefined) return []
    const worker = startWorker(['java', ...JVM_OPTIONS, '-cp', classPath, 'Worker', declared.name])
    workers.push(worker)
    return [libraryOf(declared, worker)]
  })
  afterAll(async () => {
    for (const worker of workers) await worker.stop()
  })
  return libraries
}
