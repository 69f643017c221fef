import { readFileSync, statSync } from 'node:fs'

const FILE_SUFFIX = '_FILE'
const MAX_FILE_BYTES = 65_536

/** The value of a variable, or of the file that `NAME_FILE` names, without the final line feed. The error does not contain the value. */
export function readVariable(
  environment: Record<string, string | undefined>,
  name: string,
): { value?: string; message?: string } {
  const own = (variable: string) => (Object.hasOwn(environment, variable) && environment[variable]) || undefined
  const [value, path] = [own(name), own(name + FILE_SUFFIX)]
  if (path === undefined) return value === undefined ? {} : { value }
  if (value !== undefined)
    return { value, message: `${name} and ${name}${FILE_SUFFIX} are both set; expected one of them` }
  try {
    // Reading a pipe or a device might never end.
    const file = statSync(path)
    if (!file.isFile() || file.size > MAX_FILE_BYTES) {
      return { message: `${name}${FILE_SUFFIX} names no file of at most ${MAX_FILE_BYTES} bytes` }
    }
    return { value: readFileSync(path, 'utf8').replace(/[\r\n]+$/, '') }
  } catch {
    return { message: `cannot read the file that ${name}${FILE_SUFFIX} names` }
  }
}
