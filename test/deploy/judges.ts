/** Runs the judges of manifests, which are written in Python: each says what it has against some files. */
import { preparePython } from '@test/clients/python/environment'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'

/** The Python that has them; undefined if it can't be had, which is said. */
export const python = await preparePython('judges', (line) => process.stderr.write(`${line}\n`))

/** What a judge says of files that it does not accept; nothing if they are fine. */
export async function complaintsOf(module: string, ...words: readonly string[]): Promise<string> {
  const child = Bun.spawn([python ?? '', '-m', module, ...words], {
    env: { ...BARE_ENVIRONMENT, NO_COLOR: '1' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [said, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return (await child.exited) === 0 ? '' : `${said}${errors}`
}
