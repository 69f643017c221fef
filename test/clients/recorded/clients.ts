/** The published libraries that recorded answers are read with: both majors of Node's, the AI SDK, and Python's. */
import type { PythonLibrary } from '@test/clients/python/libraries'
import { matrixClient } from '@test/clients/python/matrix'
import { CLIENTS, OLDER_CLIENTS } from '@test/matrix/clients/index'
import { FORMAT_NAMES } from '@/chat/format-name'
import { aiSdkClient } from './ai-sdk'
import type { JudgedClient } from './judge'

/** All of them. */
export function judgedClients(libraries: readonly PythonLibrary[]): JudgedClient[] {
  const node = FORMAT_NAMES.flatMap((family) => [
    { name: `Node, newest, ${family}`, family, client: CLIENTS[family] },
    { name: `Node, older, ${family}`, family, client: OLDER_CLIENTS[family] },
    { name: `AI SDK, ${family}`, family, client: aiSdkClient(family) },
  ])
  const python = libraries.map((library) => {
    return { name: library.name, family: library.family, client: matrixClient(library) }
  })
  return [...node, ...python]
}
