/** An nginx in front of gateways, with the settings that `deploy/` has for operators; only addresses and times are the suite's. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { programPath } from '@test/support/debian'
import { until } from '@test/support/until'
import { freePort } from '@/boot/embedded/free-port'
import { type InFront, replaced } from './in-front'

const SETTINGS = join(import.meta.dir, '..', '..', '..', 'deploy', 'nginx', 'gateways.conf')
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

/** Starts it below `folder` in front of the gateways at `urls`; an idle connection to one of them is kept for `keepMs`. */
export async function startNginx(folder: string, urls: readonly string[], keepMs: number): Promise<InFront> {
  const program = programPath('nginx')
  await mkdir(join(folder, 'temporary'), { recursive: true })
  const port = await freePort()
  const file = join(folder, 'nginx.conf')
  const errorLog = join(folder, 'error.log')
  await writeFile(errorLog, '')
  await writeFile(file, whole(folder, await settings(urls, port, keepMs)))
  const child = Bun.spawn([program, '-p', folder, '-c', file, '-e', errorLog], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `http://127.0.0.1:${port}`
  const answers = () => fetch(`${url}/healthz`).then(({ ok }) => ok)
  await until(() => answers().catch(() => child.exitCode !== null), 'nginx to serve')
  if (child.exitCode !== null) throw new Error(`nginx ended at its start: ${await Bun.file(errorLog).text()}`)
  return {
    url,
    // It never counts one out.
    takesBack: () => Promise.resolve(),
    async errors() {
      const lines = (await readFile(errorLog, 'utf8')).split('\n')
      return lines.filter((line) => line.includes('[error]') && !line.includes('Connection refused'))
    },
    async stop() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

async function settings(urls: readonly string[], port: number, keepMs: number): Promise<string> {
  let text = await readFile(SETTINGS, 'utf8')
  for (const [index, url] of urls.entries()) text = replaced(text, `gateway-${index + 1}:3000`, new URL(url).host)
  text = replaced(text, 'listen 80;', `listen 127.0.0.1:${port};`)
  return replaced(text, 'keepalive_timeout 3s;', `keepalive_timeout ${keepMs}ms;`)
}

function whole(folder: string, site: string): string {
  return `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 1024; }
http {
  access_log off;
  ${TEMPORARY.map((name) => `${name}_temp_path ${folder}/temporary;`).join('\n  ')}
  ${site}
}`
}
