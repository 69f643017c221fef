/** Reads the credentials file of the AWS command line: sections of `name = value`. */
import type { AwsCredentials } from './signature'

/** The keys of `profile`; undefined where it, or one of its two keys, isn't there. */
export function profileCredentials(text: string, profile: string): AwsCredentials | undefined {
  const values = new Map<string, string>()
  let isWanted = false
  for (const line of text.split(/\r?\n/)) {
    const section = /^\s*\[\s*(?:profile\s+)?([^\]]*?)\s*\]/.exec(line)
    if (section) isWanted = section[1] === profile
    const setting = isWanted ? /^([A-Za-z_]+)\s*=\s*(.*?)\s*$/.exec(line) : null
    if (setting?.[1]) values.set(setting[1].toLowerCase(), setting[2] ?? '')
  }
  const [accessKeyId, secretAccessKey] = ['aws_access_key_id', 'aws_secret_access_key'].map((name) => values.get(name))
  const sessionToken = values.get('aws_session_token')
  if (!accessKeyId || !secretAccessKey) return undefined
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
}
