/** The command-line clients: how each is installed, started and asked. None is changed in any way. */
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { OUR_ENVIRONMENT } from '@test/support/bare-environment'

export type Program = {
  name: string
  /** The tool that reads a file, the name of its argument for the path, and a text before the path. Absent: it has no tools. */
  tool?: { name: string; path: string; before?: string }
  /** It ends with the error of a stream that breaks, and does not ask again. */
  endsAtError?: boolean
  /** Installs it into the folder of the packages. Absent: it is one of the npm packages. */
  install?(packages: string): Promise<void>
  /** The command and its environment, to answer `prompt` with `model` in the folder `home`. */
  command(options: RunOptions): Promise<{ arguments: string[]; environment: Record<string, string> }>
}

type RunOptions = {
  /** Where the packages are installed. */
  packages: string
  /** The user's home, which is also where it works. */
  home: string
  baseUrl: string
  key: string
  model: string
  prompt: string
}

/** The pinned npm packages, in the versions that docs/guide/coding-tools.md names. */
export const PACKAGES = {
  '@anthropic-ai/claude-code': '2.1.329',
  '@continuedev/cli': '1.5.47',
  '@google/gemini-cli': '0.61.0',
  '@openai/codex': '0.169.0',
  '@qwen-code/qwen-code': '0.24.4',
  cline: '3.0.65',
  'opencode-ai': '1.18.33',
} as const

/** The version of aider. It pins every package that it needs. */
export const AIDER = '0.86.2'

/** Installs the npm packages into `folder`, unless they are there. They have 1.8 GB, so no test installs them. */
export async function install(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const trustedDependencies = ['@anthropic-ai/claude-code', 'opencode-ai']
  const manifest = { private: true, dependencies: PACKAGES, trustedDependencies }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  await run([process.execPath, 'install', '--silent'], folder)
}

async function run(command: string[], cwd: string, environment: Record<string, string> = {}): Promise<void> {
  const env = { ...OUR_ENVIRONMENT, ...environment }
  const child = Bun.spawn(command, { cwd, env, stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' })
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed in ${cwd}`)
}

export const claudeCode: Program = {
  name: 'Claude Code',
  tool: { name: 'Read', path: 'file_path' },
  async command({ packages, home, baseUrl, key, model, prompt }) {
    return {
      arguments: [join(packages, 'node_modules/.bin/claude'), '-p', prompt, '--allowedTools', 'Read'],
      environment: {
        HOME: home,
        ANTHROPIC_BASE_URL: baseUrl,
        ANTHROPIC_AUTH_TOKEN: key,
        ANTHROPIC_MODEL: model,
        ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
        CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      },
    }
  },
}

const geminiCli: Program = {
  name: 'Gemini CLI',
  tool: { name: 'read_file', path: 'file_path' },
  async command({ packages, home, baseUrl, key, model, prompt }) {
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
    }
    await mkdir(join(home, '.gemini'), { recursive: true })
    await writeFile(join(home, '.gemini', 'settings.json'), JSON.stringify(settings))
    return {
      arguments: [
        Bun.which('node') ?? process.execPath,
        join(packages, 'node_modules/.bin/gemini'),
        '-m',
        model,
        '-p',
        prompt,
      ],
      environment: {
        HOME: home,
        GEMINI_API_KEY: key,
        GOOGLE_GEMINI_BASE_URL: baseUrl,
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
      },
    }
  },
}

export const codex: Program = {
  name: 'Codex',
  tool: { name: 'exec_command', path: 'cmd', before: 'cat ' },
  async command({ packages, home, baseUrl, key, model, prompt }) {
    const folder = join(home, '.codex')
    await mkdir(folder, { recursive: true })
    const config = [
      'model_provider = "gateway"',
      '[model_providers.gateway]',
      'name = "svc-gateway"',
      `base_url = "${baseUrl}/v1"`,
      'env_key = "SVC_API_KEY"',
      'wire_api = "responses"',
    ]
    await writeFile(join(folder, 'config.toml'), config.join('\n'))
    // The folder it works in is the test's own, and the machine may have no sandbox for it.
    const options = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '-m', model]
    return {
      arguments: [join(packages, 'node_modules/.bin/codex'), 'exec', ...options, prompt],
      environment: { HOME: home, CODEX_HOME: folder, SVC_API_KEY: key },
    }
  },
}

const opencode: Program = {
  name: 'opencode',
  tool: { name: 'read', path: 'filePath' },
  async command({ packages, home, baseUrl, key, model, prompt }) {
    const gateway = {
      npm: '@ai-sdk/openai-compatible',
      name: 'svc-gateway',
      options: { baseURL: `${baseUrl}/v1`, apiKey: '{env:SVC_API_KEY}' },
      models: { [model]: { name: 'Model' } },
    }
    await writeFile(join(home, 'opencode.json'), JSON.stringify({ autoupdate: false, provider: { gateway } }))
    // Without a title it asks the model for one, beside the answer.
    const options = ['-m', `gateway/${model}`, '--title', 'Test']
    return {
      arguments: [join(packages, 'node_modules/.bin/opencode'), 'run', ...options, prompt],
      environment: { HOME: home, SVC_API_KEY: key, OPENCODE_DISABLE_MODELS_FETCH: '1' },
    }
  },
}

const continueCli: Program = {
  name: 'Continue',
  tool: { name: 'Read', path: 'filepath' },
  async command({ packages, home, baseUrl, key, model, prompt }) {
    const file = join(home, 'config.yaml')
    const config = [
      'name: gateway',
      'version: 1.0.0',
      'schema: v1',
      'models:',
      '  - name: Model',
      '    provider: openai',
      `    model: ${model}`,
      `    apiBase: ${baseUrl}/v1/`,
      `    apiKey: ${key}`,
      '    capabilities: [tool_use]',
    ]
    await writeFile(file, config.join('\n'))
    return {
      arguments: [join(packages, 'node_modules/.bin/cn'), '--config', file, '-p', prompt, '--allow', 'Read'],
      environment: { HOME: home, CONTINUE_TELEMETRY_ENABLED: '0' },
    }
  },
}

const cline: Program = {
  name: 'Cline',
  endsAtError: true,
  tool: { name: 'read_files', path: 'path' },
  async command({ packages, home, baseUrl, key, model, prompt }) {
    const program = join(packages, 'node_modules/.bin/cline')
    await run([program, 'auth', '-p', 'openai', '-k', key, '-m', model, '-b', `${baseUrl}/v1`], home, { HOME: home })
    return { arguments: [program, prompt], environment: { HOME: home } }
  },
}

const qwenCode: Program = {
  name: 'Qwen Code',
  tool: { name: 'read_file', path: 'file_path' },
  async command({ packages, home, baseUrl, key, model, prompt }) {
    // `--bare` leaves out the second question after each answer, whether to remember something.
    const options = ['--bare', '--auth-type', 'openai', '-m', model]
    return {
      arguments: [join(packages, 'node_modules/.bin/qwen'), ...options, '-p', prompt],
      environment: { HOME: home, OPENAI_API_KEY: key, OPENAI_BASE_URL: `${baseUrl}/v1` },
    }
  },
}

const aider: Program = {
  name: 'aider',
  async install(packages) {
    const python = join(packages, 'aider', 'bin', 'python')
    if (existsSync(join(packages, 'aider', 'bin', 'aider'))) return
    await run(['python3', '-m', 'venv', 'aider'], packages)
    await run([python, '-m', 'pip', 'install', '--quiet', '--only-binary', ':all:', `aider-chat==${AIDER}`], packages)
  },
  async command({ packages, home, baseUrl, key, model, prompt }) {
    const options = ['--no-git', '--yes-always', '--no-check-update', '--analytics-disable', '--no-show-model-warnings']
    return {
      arguments: [join(packages, 'aider/bin/aider'), ...options, '--model', `openai/${model}`, '--message', prompt],
      environment: { HOME: home, OPENAI_API_KEY: key, OPENAI_API_BASE: `${baseUrl}/v1` },
    }
  },
}

export const PROGRAMS: readonly Program[] = [
  claudeCode,
  geminiCli,
  codex,
  opencode,
  continueCli,
  cline,
  qwenCode,
  aider,
]
