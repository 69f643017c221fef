/** Limits the uses of a request's tools at a target, and computes their maximum cost and the input tokens that they add. */
import type { ServerTool } from '@/chat/server-tools'
import { UNPRICED_EXTRAS } from '@/formats/body-fields'
import { MAX_NANO, type Nano, nano } from '@/lib/money'
import type { Target, ToolPrice, ToolPrices } from './types'

/** The tool uses at one target that a hold covers. */
type ToolAllowance = {
  limits: ReadonlyMap<string, number>
  cost: Nano
  /** Tokens that all uses together add to the prompt. */
  addedTokens: number
  /** How many times the model reads the prompt again. */
  rereads: number
}

/** Maximum times that a model reads the prompt again in one request, even if there are more tool uses. */
const MAX_REREADS = 10

/** Whether a request with `tools` may go to `target`: each tool has a price there, may be omitted, or the operator bears its cost. */
export function takesTools(target: Target, tools: readonly ServerTool[]): boolean {
  return tools.every((tool) => tool.isOptional || isTaken(target, tool))
}

/** The optional `tools` that are omitted at `target`, because they have no price there or its format lacks them. */
export function untakenTools(tools: readonly ServerTool[], target: Target, isOwnFormat: boolean): ServerTool[] {
  return tools.filter((tool) => tool.isOptional && !(isOwnFormat && isTaken(target, tool)))
}

function isTaken({ quirks, toolPrices }: Target, { name }: ServerTool): boolean {
  return quirks.has(UNPRICED_EXTRAS) || toolPrices?.has(name) === true
}

/** The allowance of `tools` at `target`. A tool whose cost the operator pays has no price, and no allowance. */
export function toolAllowance(tools: readonly ServerTool[], { toolPrices }: Pick<Target, 'toolPrices'>): ToolAllowance {
  const limits = new Map<string, number>()
  let cost = 0
  let addedTokens = 0
  let rereads = 0
  for (const tool of tools) {
    const terms = toolPrices?.get(tool.name)
    if (!terms) continue
    const limit = tool.maxUses ?? terms.maxUses ?? tool.usualUses
    if (tool.maxUses === undefined) limits.set(tool.name, limit)
    cost += terms.price * (terms.per === 'request' ? 1 : limit)
    addedTokens += limit * (terms.tokensPerUse ?? tool.tokensPerUse)
    if (tool.isReread) rereads += limit
  }
  return { limits, cost: nano(Math.min(cost, MAX_NANO)), addedTokens, rereads: Math.min(rereads, MAX_REREADS) }
}

/** For public price lists: each tool at the highest price among `targets`. */
export function dearestToolPrices(targets: readonly Pick<Target, 'toolPrices'>[]): ToolPrices {
  const dearest = new Map<string, ToolPrice>()
  for (const { toolPrices } of targets) {
    for (const [name, terms] of toolPrices ?? []) {
      if (terms.price >= (dearest.get(name)?.price ?? 0)) dearest.set(name, terms)
    }
  }
  return dearest
}

/** The most that `tools` can cost for one request at any of `targets`. */
export function dearestTools(tools: readonly ServerTool[], targets: readonly Target[]): Nano {
  return nano(Math.max(0, ...targets.map((target) => toolAllowance(tools, target).cost)))
}

/** The most input tokens at any of `targets`: each repeated reading adds the prompt and tool results again. */
export function inputWithTools(
  tools: readonly ServerTool[],
  targets: readonly Target[],
  prompt: number,
  contextLength: number,
): number {
  const most = Math.max(prompt, contextLength)
  const bounds = targets.map((target) => sumOfReadings(toolAllowance(tools, target), prompt, most))
  return Math.max(prompt, ...bounds)
}

function sumOfReadings({ addedTokens, rereads }: ToolAllowance, prompt: number, most: number): number {
  if (rereads === 0) return Math.min(prompt + addedTokens, most)
  let tokens = 0
  for (let reading = 0; reading <= rereads; reading++) {
    tokens += Math.min(prompt + Math.ceil((addedTokens * reading) / rereads), most)
  }
  return tokens
}
