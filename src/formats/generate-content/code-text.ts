import { isJsonObject, type JsonObject, textOf } from '@/lib/json'

/** Converts `executableCode` or `codeExecutionResult` to text, since other formats have no such part; undefined if `part` has neither. */
export function textOfCode(part: JsonObject): string | undefined {
  const { executableCode, codeExecutionResult } = part
  if (isJsonObject(executableCode)) {
    const language = textOf(executableCode.language)?.toLowerCase() ?? ''
    return fence(language === 'language_unspecified' ? '' : language, executableCode.code)
  }
  return isJsonObject(codeExecutionResult) ? fence('', codeExecutionResult.output) : undefined
}

function fence(language: string, text: unknown): string {
  return `\n\`\`\`${language}\n${textOf(text) ?? ''}\n\`\`\`\n`
}
