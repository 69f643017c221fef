/** Converts code that a generate-content provider ran itself to text, since other formats have no such part. */
import { isJsonObject, type JsonObject, textOf } from '@/lib/json'

/** The text for `executableCode` or `codeExecutionResult`; undefined if the part has neither. */
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
