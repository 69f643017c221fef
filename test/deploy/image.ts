/**
 * Builds the Dockerfile with buildah, without a daemon, and runs what comes out by what the image itself says (user, command,
 * environment), on a file system that cannot be written.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BARE_ENVIRONMENT } from '@test/support/bare-environment'
import { programPath } from '@test/support/debian'
import { makeBaseImage } from './base-image'
import { ROOT } from './compose-file'

type ImageConfig = {
  User: string
  Env: string[]
  Cmd: string[]
  WorkingDir: string
  Healthcheck: { Test: string[] }
}

export type Image = {
  config: ImageConfig
  /** Where its files lie on this machine. */
  root: string
  /** Runs a command in a container of its own: the image's, unless another one is named. */
  run(environment: Record<string, string>, command?: string[]): Bun.Subprocess<'ignore', 'pipe', 'pipe'>
  remove(): Promise<void>
}

const NAME = 'localhost/svc-gateway-test'
const BASE = 'localhost/bun-test'

/** Why images can't be built here; undefined if they can. */
export async function whyNoImages(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'only root on Linux can build images without a daemon'
  const probe = Bun.spawn(['unshare', '--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt'], {
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  return (await probe.exited) === 0 ? undefined : 'this machine lets nobody mount anything'
}

/** Builds the image of this checkout, on a base that is made of what this machine has. */
export async function buildImage(): Promise<Image> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-image-'))
  const stores = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs']
  const buildah = (...words: string[]) => output([programPath('buildah'), ...stores, ...words])
  const build = ['bud', '--isolation', 'chroot', '--network', 'host', '--pull-never', '--format', 'docker']
  await makeBaseImage(join(folder, 'base'))
  await buildah(...build, '--tag', BASE, join(folder, 'base'))
  // What this checkout was installed from: nothing is asked of a registry.
  const cache = `${(await output([process.execPath, 'pm', 'cache'])).trim()}:/root/.bun/install/cache`
  await buildah(...build, '--volume', cache, '--build-arg', `BUN_IMAGE=${BASE}`, '--tag', NAME, ROOT)
  const { Docker } = JSON.parse(await buildah('inspect', '--type', 'image', NAME)) as {
    Docker: { config: ImageConfig }
  }
  const container = (await buildah('from', '--pull-never', NAME)).trim()
  const root = (await buildah('mount', container)).trim()
  return {
    config: Docker.config,
    root,
    run: (environment, command = Docker.config.Cmd) => runIn(root, Docker.config, environment, command),
    async remove() {
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A mount namespace of its own, a root that is read-only but for /tmp and /data, the image's user and no more rights than that. */
const CONTAINER = `
mount --bind "$ROOT" "$ROOT" && mount -o remount,bind,ro "$ROOT" &&
mount -t tmpfs -o mode=1777 tmpfs "$ROOT/tmp" && mount -t tmpfs -o mode=1777 tmpfs "$ROOT/data" &&
mount -t proc proc "$ROOT/proc" && mount --rbind /dev "$ROOT/dev" &&
exec env -i $SETTINGS chroot --userspec="$IDS" "$ROOT" /bin/sh -c 'cd "$0" && exec "$@"' "$FOLDER" "$@"`

function runIn(root: string, config: ImageConfig, environment: Record<string, string>, command: string[]) {
  const own = Object.fromEntries(config.Env.map((line) => line.split(/=(.*)/s).slice(0, 2)))
  const variables = { PATH: '/usr/local/bin:/bin', HOME: '/home/bun', ...own, ...environment }
  // Handed over one by one: none of these has a space.
  const settings = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
  const ids = config.User === 'bun' ? '1000:1000' : config.User
  return Bun.spawn(['unshare', '--mount', 'sh', '-c', CONTAINER, 'container', ...command], {
    env: { ...BARE_ENVIRONMENT, ROOT: root, IDS: ids, FOLDER: config.WorkingDir, SETTINGS: settings.join(' ') },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

/** The names of the packages in an image. */
export async function packagesOf(image: Image): Promise<string[]> {
  const folder = join(image.root, 'app', 'node_modules')
  const names = (await readdir(folder)).filter((name) => !name.startsWith('.'))
  const nested = names.map(async (name) =>
    name.startsWith('@') ? (await readdir(join(folder, name))).map((part) => `${name}/${part}`) : [name],
  )
  return (await Promise.all(nested)).flat()
}

/** Runs a command to its end, and returns what it wrote. Throws with its errors where it failed. */
async function output(command: string[]): Promise<string> {
  const child = Bun.spawn(command, { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [text, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${text}\n${errors}`)
  return text
}
