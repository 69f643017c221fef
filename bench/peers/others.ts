/** Other gateways, each as its makers ship it, and what of it was on. */
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { plainEnvironment } from '@bench/machine/program'
import { UPSTREAM_MODELS } from './gateway'
import { type PeerKind, type Surroundings, shotWith, type Traffic } from './peer'

const PORTKEY = join(import.meta.dir, 'node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js')
const LITELLM_VERSION = '1.100.0'
const LITELLM_FOLDER = join(import.meta.dir, '..', '..', '.cache', `litellm-${LITELLM_VERSION}`)
const INSTALL_TIMEOUT_MS = 600_000
const BEARER = { name: 'authorization', prefix: 'Bearer ' }

/** Portkey on Node, from its npm package; with later versions of its HTTP server than bench/peers pins, it answers streams with 500. */
export const portkey: PeerKind = {
  name: 'Portkey',
  state: 'Node; routing and translation; neither keys nor credit nor records',
  usesStores: false,
  modes: ['full'],
  async prepare({ upstreamPort }) {
    const node = Bun.which('node')
    if (node === null) return { absent: 'node is not on PATH' }
    const install = Bun.spawnSync([process.execPath, 'install', '--frozen-lockfile', '--silent'], {
      cwd: import.meta.dir,
    })
    if (!existsSync(PORTKEY))
      return { absent: `bench/peers could not be installed: ${install.stderr.toString().trim()}` }
    const upstream = `http://127.0.0.1:${upstreamPort}`
    return {
      command: (port) => [node, PORTKEY, `--port=${port}`, '--headless'],
      environment: () => ({ NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1,localhost' }),
      shot(traffic, port) {
        if (traffic.client !== 'chat-completions' || !PORTKEY_PROVIDERS.has(traffic.provider)) return undefined
        const isSame = traffic.provider === traffic.client
        return shotWith(traffic, port, {
          headers: {
            'x-portkey-provider': isSame ? 'openai' : 'anthropic',
            'x-portkey-custom-host': `${upstream}/v1`,
            authorization: 'Bearer sk-bench',
          },
        })
      },
    }
  },
}

/** Bifrost's own server program. It is in no registry as a program, so somebody has to have put it on PATH. */
export const bifrost: PeerKind = {
  name: 'Bifrost',
  state: 'Go; virtual keys and budgets on, log store off',
  usesStores: false,
  modes: ['quick', 'guard', 'full'],
  prepare: (surroundings) => prepareBifrost(surroundings, false),
}

/** The same with a record of each request, in its own SQLite file. */
export const bifrostWithLogs: PeerKind = {
  name: 'Bifrost with logs',
  state: 'the same, log store on (SQLite)',
  usesStores: false,
  modes: ['full'],
  onlyScenarios: ['json-1', 'json-64', 'streams-64'],
  prepare: (surroundings) => prepareBifrost(surroundings, true),
}

async function prepareBifrost(
  { folder, upstreamPort }: Surroundings,
  hasLogs: boolean,
): ReturnType<PeerKind['prepare']> {
  const program = Bun.which('bifrost-http')
  if (program === null) {
    return { absent: 'no bifrost-http on PATH (its npm package holds no program but fetches one when it runs)' }
  }
  const key = 'sk-bf-bench'
  await writeFile(join(folder, 'config.json'), JSON.stringify(bifrostConfig(folder, upstreamPort, key, hasLogs)))
  return {
    command: (port) => [
      program,
      '-app-dir',
      folder,
      '-host',
      '127.0.0.1',
      '-port',
      String(port),
      '-log-level',
      'error',
    ],
    shot(traffic, port) {
      if (traffic.client !== 'chat-completions' || traffic.provider === 'responses') return undefined
      const provider = PROVIDERS[traffic.provider]
      const keys = { keyHeader: { name: 'x-bf-vk', prefix: '' }, keys: [key] }
      return shotWith(traffic, port, { headers: {}, model: `${provider}/${traffic.model}`, keys })
    },
  }
}

/** Those that it can be told to find at another address. */
const PORTKEY_PROVIDERS: ReadonlySet<string> = new Set(['chat-completions', 'messages'])
const PROVIDERS = { 'chat-completions': 'openai', messages: 'anthropic', 'generate-content': 'gemini' } as const

/** It takes virtual keys from a store of its own only, and knows no model that is not named. */
function bifrostConfig(folder: string, upstreamPort: number, key: string, hasLogs: boolean): Record<string, unknown> {
  const baseUrl = `http://127.0.0.1:${upstreamPort}`
  const provider = (address: string) => ({
    keys: [{ name: 'bench', value: 'sk-bench', models: UPSTREAM_MODELS, weight: 1 }],
    network_config: { base_url: address, default_request_timeout_in_seconds: 600, max_retries: 0 },
    concurrency_and_buffer_size: { concurrency: 4_000, buffer_size: 10_000 },
  })
  const names = ['openai', 'anthropic', 'gemini']
  return {
    client: {
      drop_excess_requests: false,
      enable_logging: hasLogs,
      enforce_auth_on_inference: true,
      initial_pool_size: 1_000,
    },
    providers: {
      openai: provider(baseUrl),
      anthropic: provider(baseUrl),
      gemini: provider(`${baseUrl}/v1beta`),
    },
    governance: {
      budgets: [{ id: 'bench', max_limit: 1_000_000, reset_duration: '1M' }],
      virtual_keys: [
        {
          ...{ id: 'bench', name: 'bench', value: key, is_active: true, budget_id: 'bench' },
          provider_configs: names.map((provider) => ({
            ...{ provider, weight: 1, allowed_models: UPSTREAM_MODELS, key_ids: ['*'] },
          })),
        },
      ],
    },
    config_store: { enabled: true, type: 'sqlite', config: { path: join(folder, 'config.db') } },
    logs_store: hasLogs
      ? { enabled: true, type: 'sqlite', config: { path: join(folder, 'logs.db') } }
      : { enabled: false },
  }
}

/** LiteLLM's proxy from PyPI in an environment of its own. Slow to install and to start, so only in a full run. */
export const litellm: PeerKind = {
  name: 'LiteLLM',
  state: 'Python, one worker; a master key, no spend database',
  usesStores: false,
  modes: ['full'],
  async prepare(surroundings) {
    const absent = installLitellm()
    if (absent !== undefined) return { absent }
    const config = join(surroundings.folder, 'litellm.yaml')
    await mkdir(surroundings.folder, { recursive: true })
    await writeFile(config, litellmConfig(surroundings))
    const program = join(LITELLM_FOLDER, 'bin', 'litellm')
    return {
      command: (port) => [
        program,
        '--config',
        config,
        '--host',
        '127.0.0.1',
        '--port',
        String(port),
        '--telemetry',
        'False',
      ],
      environment: () => ({
        LITELLM_LOG: 'ERROR',
        LITELLM_LOCAL_MODEL_COST_MAP: 'True',
        ANONYMIZED_TELEMETRY: 'False',
      }),
      shot(traffic, port) {
        if (traffic.client !== 'chat-completions') return undefined
        return shotWith(traffic, port, {
          headers: {},
          model: litellmModel(traffic),
          keys: { keyHeader: BEARER, keys: [LITELLM_KEY] },
        })
      },
    }
  },
}

const LITELLM_KEY = 'sk-bench-master'

/** Installs it unless that was done before; returns why it can't be. */
function installLitellm(): string | undefined {
  if (existsSync(join(LITELLM_FOLDER, 'bin', 'litellm'))) return undefined
  const python = Bun.which('python3')
  if (python === null) return 'python3 is not on PATH'
  const options = { timeout: INSTALL_TIMEOUT_MS, env: plainEnvironment() }
  const venv = Bun.spawnSync([python, '-m', 'venv', LITELLM_FOLDER], options)
  if (!venv.success) return `no virtual environment could be made: ${lastLine(venv.stderr)}`
  const packages = [`litellm[proxy]==${LITELLM_VERSION}`]
  const pip = Bun.spawnSync([join(LITELLM_FOLDER, 'bin', 'pip'), 'install', '--quiet', ...packages], options)
  return pip.success ? undefined : `pip could not install it: ${lastLine(pip.stderr)}`
}

function litellmConfig({ upstreamPort }: Surroundings): string {
  const address = `http://127.0.0.1:${upstreamPort}`
  const bases = { 'chat-completions': `${address}/v1`, messages: address, 'generate-content': `${address}/v1beta` }
  const entries = (['chat-completions', 'messages'] as const).flatMap((provider) =>
    UPSTREAM_MODELS.map((model) => ({
      model_name: litellmModel({ provider, model }),
      litellm_params: { model: `${PROVIDERS[provider]}/${model}`, api_base: bases[provider], api_key: 'sk-bench' },
    })),
  )
  // JSON is YAML.
  return JSON.stringify({ model_list: entries, general_settings: { master_key: LITELLM_KEY } })
}

function litellmModel({ provider, model }: Pick<Traffic, 'provider' | 'model'>): string {
  return `${provider}-${model}`
}

function lastLine(output: Uint8Array): string {
  return new TextDecoder().decode(output).trim().split('\n').at(-1) ?? ''
}
