/** The peers that only pass bytes on: the mock upstream itself, nginx, and a bare proxy on Bun. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type PeerKind, plainShot } from './peer'

/** No server between client and upstream: what all others add to. */
export const direct: PeerKind = {
  name: 'direct',
  state: 'no proxy: the mock upstream itself',
  usesStores: false,
  modes: ['full'],
  prepare: async ({ upstreamPort }) => ({
    command: () => [],
    shot: (traffic) => plainShot(traffic, upstreamPort),
  }),
}

/** The fastest proxy that is to be had in a distribution. */
export const nginx: PeerKind = {
  name: 'nginx',
  state: 'one worker, keep-alive to the upstream, no buffering, no log',
  usesStores: false,
  modes: ['quick', 'full'],
  async prepare({ folder, upstreamPort }) {
    const program = Bun.which('nginx') ?? Bun.which('/usr/sbin/nginx')
    if (program === null) return { absent: 'nginx is not installed: on Debian, apt-get install nginx-light' }
    await mkdir(join(folder, 'temp'), { recursive: true })
    const configFile = (port: number) => join(folder, `nginx-${port}.conf`)
    return {
      command(port) {
        const write = `cat > ${configFile(port)} <<'END'\n${nginxConfig(folder, port, upstreamPort)}\nEND`
        return ['bash', '-c', `${write}\nexec ${program} -p ${folder} -c ${configFile(port)}`]
      },
      shot: plainShot,
    }
  },
}

function nginxConfig(folder: string, port: number, upstreamPort: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `
daemon off;
worker_processes 1;
worker_rlimit_nofile 65535;
pid ${folder}/nginx-${port}.pid;
error_log stderr error;
events { worker_connections 40000; }
http {
  access_log off;
  client_max_body_size 16m;
  client_body_buffer_size 4m;
  keepalive_requests 100000000;
  ${temporary.map((name) => `${name}_temp_path ${folder}/temp;`).join('\n  ')}
  upstream mock { server 127.0.0.1:${upstreamPort}; keepalive 1024; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 3600s;
    }
  }
}`
}

/** What Bun itself costs: its server and its fetch, and nothing between them. */
export const bareBun: PeerKind = {
  name: 'bare Bun',
  state: 'Bun.serve and fetch, bodies passed on as streams',
  usesStores: false,
  modes: ['quick', 'guard', 'full'],
  prepare: async (surroundings) => bunProgram('bare-proxy.ts', surroundings.upstreamPort),
}

/** What a proxy on Bun costs that does the same things as a gateway, without keys, credit and records. */
export const featuredBun: PeerKind = {
  name: 'featured Bun',
  state:
    'Elysia, bodies parsed and serialised, abort signals, timers, headers, stream reader; no keys, credit or records',
  usesStores: false,
  modes: ['full'],
  prepare: async (surroundings) => bunProgram('featured-proxy.ts', surroundings.upstreamPort),
}

function bunProgram(file: string, upstreamPort: number) {
  return {
    command: (port: number) => [
      process.execPath,
      join(import.meta.dir, 'programs', file),
      String(port),
      String(upstreamPort),
    ],
    environment: () => ({ BUN_CONFIG_MAX_HTTP_REQUESTS: '65535' }),
    shot: plainShot,
  }
}
