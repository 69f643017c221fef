/** Makes what stands in for Bun's own image where no registry can be reached: this machine's Bun, and the few programs of the Dockerfile. */
import { chmod, copyFile, mkdir, realpath, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const PROGRAMS = ['mkdir', 'chown', 'ln', 'readlink', 'dirname']
const PASSWD = 'root:x:0:0::/root:/bin/sh\nbun:x:1000:1000::/home/bun:/bin/sh\n'

/** Fills `folder` with the files of such an image. */
export async function makeBaseImage(folder: string): Promise<void> {
  for (const name of ['tmp', 'root', 'home/bun', 'proc', 'dev', 'etc', 'bin', 'usr/local/bin'])
    await mkdir(join(folder, name), { recursive: true })
  await chmod(join(folder, 'tmp'), 0o1777)
  await add(folder, await realpath(process.execPath), '/usr/local/bin/bun')
  await add(folder, Bun.which('dash') ?? '/bin/sh', '/bin/sh')
  for (const name of PROGRAMS) await add(folder, Bun.which(name) ?? name, `/bin/${name}`)
  await symlink('../local/bin', join(folder, 'usr', 'bin'))
  await Bun.write(join(folder, 'etc', 'passwd'), PASSWD)
  await Bun.write(join(folder, 'etc', 'group'), 'root:x:0:\nbun:x:1000:\n')
  await Bun.write(join(folder, 'Dockerfile'), 'FROM scratch\nCOPY . /\n')
}

/** Copies a program, and the libraries that it names. */
async function add(folder: string, source: string, place: string): Promise<void> {
  await copyFile(source, join(folder, place))
  const listed = await new Response(Bun.spawn(['ldd', source], { stderr: 'ignore' }).stdout).text()
  for (const [library] of listed.matchAll(/\/\S+(?= \(0x)/g)) {
    await mkdir(join(folder, dirname(library)), { recursive: true })
    await copyFile(library, join(folder, library))
  }
}
