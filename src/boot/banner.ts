import { DEFAULT_DATA_DIR } from '@/config/config'
import type { DemoAccount } from './demo-account'

export type BannerFacts = {
  address: string
  modelCount: number
  tierCount: number
  isSandboxed: boolean
  isEmbedded: boolean
  /** One line: the addresses, and who can reach them. */
  reach: string
  dataDir: string
  /** Credit left from trials, which could now be spent at real providers; undefined if there is none. */
  unpaidUsd: string | undefined
  /** The demo account, if any. `secrets` only at its first start; they are never shown again. */
  demo: (DemoAccount & { creditUsd: string; model: string }) | undefined
}

/** The text printed after the start: addresses, warnings, the demo account and a command to try. Ends in a line feed. */
export function formatBanner(facts: BannerFacts): string {
  const { address, demo } = facts
  const lines = [
    '',
    `  svc-gateway is ready at ${address}`,
    '',
    `  API docs     ${address}/docs`,
    `  Dashboard    ${address}/dashboard`,
    `  Models       ${facts.modelCount} models and ${facts.tierCount} auto tiers: ${address}/v1/models`,
  ]
  lines.push(`  Reach        ${facts.reach}`)
  if (facts.isEmbedded) lines.push(`  Data         ${facts.dataDir} (embedded servers)`)
  if (facts.isSandboxed) {
    lines.push(
      '',
      '  SANDBOX: no provider key is set, so answers are simulated. Set PROVIDER1_API_KEY (or 2, 3) for real ones.',
    )
  }
  if (facts.unpaidUsd !== undefined) {
    lines.push(
      '',
      `  These books hold ${facts.unpaidUsd} USD of credit that nobody has paid for (demo account, sandbox deposits),`,
      '  and your providers are paid to answer it. Start with empty stores, or suspend those accounts.',
    )
  }
  if (demo?.secrets) {
    const { key, password } = demo.secrets
    lines.push(
      '',
      `  A demo account with ${demo.creditUsd} USD of credit was created. Its API key, shown only now:`,
      `  ${key}`,
      `  In the dashboard: ${demo.email} with the password ${password}`,
      '',
      '  Try it:',
      `  ${curlLine(address, key, demo.model)}`,
    )
  }
  if (demo) lines.push('', demo.secrets ? '  Lost one of them later?' : "  Lost the demo account's key or password?")
  if (demo) lines.push(...wayBack(demo, facts.dataDir))
  return `${lines.join('\n')}\n\n`
}

function wayBack({ accountId, email }: DemoAccount, dataDir: string): string[] {
  // Commands find embedded stores by `DATA_DIR`. For external stores, the operator must set the addresses again.
  const admin = `${dataDir === DEFAULT_DATA_DIR ? '' : `DATA_DIR=${dataDir} `}bun run admin`
  return [
    `  A new key       ${admin} key create --account ${accountId} --name again`,
    `  A new password  ${admin} user set-password --email ${email}`,
  ]
}

function curlLine(address: string, key: string, model: string): string {
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Say hello' }] })
  return (
    `curl -N ${address}/v1/chat/completions -H 'Authorization: Bearer ${key}' ` +
    `-H 'Content-Type: application/json' -d '${body}'`
  )
}
