/** Code that a generate-content provider ran by itself, as text: other formats have no such part. */
import { isJsonObject, type JsonObject, textOf } from '@/lib/json'

/** The text that stands for `executableCode` or `codeExecutionResult`, or undefined if the part holds neither. */
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
