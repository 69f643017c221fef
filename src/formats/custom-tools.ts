/**
 * Custom tools, whose input is free text, in words that every format has: a function with that text as its only argument. The two
 * formats that know them tell each other what they are.
 */
import type { ToolGrammar } from '@/chat/request'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'

/** What the hub has as the parameters of a custom tool. */
export const CUSTOM_PARAMETERS: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

/** A custom tool's free text as the arguments of such a function. */
export function customArguments(input: string): string {
  return JSON.stringify({ input })
}

/** The free text out of such arguments; of a model that did not keep to their form, all that it wrote. */
export function customInput(argumentsText: string): string {
  const value = parseJson(argumentsText)
  if (isJsonObject(value) && typeof value.input === 'string') return value.input
  return typeof value === 'string' ? value : argumentsText
}

/** What a custom tool is for, and the form of its text in words: only providers that know custom tools can hold a model to it. */
export function describeCustom(description: string | undefined, grammar: ToolGrammar | undefined): string {
  const form = grammar && `The input must match this ${grammar.syntax ?? ''} grammar:\n${grammar.definition}`
  return [description, form].filter(Boolean).join('\n\n')
}
