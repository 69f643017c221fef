/** An SMTP server that takes mails and delivers none: what a gateway sends can be read in a test. */
import { createServer, type Server, type Socket } from 'node:net'
import { assert } from '@/lib/assert'
import { until } from './until'

type ReceivedMail = { from: string; to: string; text: string /** As it came, headers and all. */; raw: string }

type MailServerOptions = {
  /** 0: any that is free. */
  port?: number
  /** What is answered to a command instead of yes, e.g. `550 5.1.1 no such user` to `RCPT`; undefined: yes. */
  refuse?: (command: string, argument: string) => string | undefined
}

export interface MailServer {
  /** For SMTP_URL. */
  readonly url: string
  readonly port: number
  readonly mails: ReceivedMail[]
  /** Waits for the newest mail to `address` whose text matches, and returns what the first group of `pattern` found. */
  find(address: string, pattern: RegExp): Promise<string>
  stop(): Promise<void>
}

/** Starts the server on a loopback port. */
export async function startMailServer({ port = 0, refuse }: MailServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    converse(socket, refuse ?? (() => undefined), (mail) => mails.push(mail))
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const ownPort = portOf(server)
  return {
    url: `smtp://127.0.0.1:${ownPort}`,
    port: ownPort,
    mails,
    find: (to, pattern) =>
      until(
        () => mails.flatMap((mail) => (mail.to === to ? (pattern.exec(mail.text)?.[1] ?? []) : [])).at(-1),
        `a mail to ${to}`,
      ),
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function portOf(server: Server): number {
  const address = server.address()
  assert(typeof address === 'object' && address !== null, 'a server that listens has an address')
  return address.port
}

/** The server's side of one conversation (RFC 5321, without extensions). */
function converse(
  socket: Socket,
  refuse: (command: string, argument: string) => string | undefined,
  received: (mail: ReceivedMail) => void,
): void {
  let buffer = ''
  let isData = false
  let mail: ReceivedMail = { from: '', to: '', text: '', raw: '' }
  socket.write('220 test\r\n')
  socket.on('data', (chunk) => {
    buffer += chunk.toString('utf8')
    for (let end = buffer.indexOf('\r\n'); end !== -1; end = buffer.indexOf('\r\n')) {
      const line = buffer.slice(0, end)
      buffer = buffer.slice(end + 2)
      if (!isData) answer(line)
      else if (line === '.') finish()
      else mail.raw += `${line.replace(/^\.\./, '.')}\n`
    }
  })

  function answer(line: string): void {
    const command = line.slice(0, 4).toUpperCase()
    const refusal = refuse(command, addressOf(line))
    if (refusal !== undefined) return void socket.write(`${refusal}\r\n`)
    if (command === 'MAIL') mail = { from: addressOf(line), to: '', text: '', raw: '' }
    if (command === 'RCPT') mail.to = addressOf(line)
    if (command === 'DATA') isData = true
    socket.write(command === 'DATA' ? '354 go on\r\n' : command === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n')
  }

  function finish(): void {
    isData = false
    const refusal = refuse('.', mail.to)
    // Long lines are folded with a trailing = in this encoding.
    if (refusal === undefined) received({ ...mail, text: mail.raw.replace(/=\n/g, '').replace(/=3D/g, '=') })
    socket.write(`${refusal ?? '250 taken'}\r\n`)
  }
}

function addressOf(line: string): string {
  return /<([^>]*)>/.exec(line)?.[1] ?? ''
}
