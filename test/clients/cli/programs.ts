/** The command-line clients: how each is installed, started and asked. None is changed in any way. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export type Program = {
  name: string
  /** The tool that reads a file, the name of its argument for that, and what stands in there before the path. */
  tool: { name: string; path: string; before?: string }
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

/** What is installed, pinned: the versions that docs/CLIENTS.md speaks of. */
export const PACKAGES = {
  '@anthropic-ai/claude-code': '2.1.329',
  '@google/gemini-cli': '0.61.0',
  '@openai/codex': '0.169.0',
} as const

/** Installs the packages into `folder`, unless they are there. Some 850 MB, which is why no test does it. */
export async function install(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const manifest = { private: true, dependencies: PACKAGES, trustedDependencies: ['@anthropic-ai/claude-code'] }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  const installing = Bun.spawn([process.execPath, 'install', '--silent'], { cwd: folder, stdout: 'ignore' })
  if ((await installing.exited) !== 0) throw new Error(`the packages could not be installed into ${folder}`)
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

export const PROGRAMS: readonly Program[] = [claudeCode, geminiCli, codex]
