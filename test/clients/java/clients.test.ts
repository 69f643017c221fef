/** The official client libraries for Java against every provider format, and a hundred streams at once. Slow: four virtual machines. */
import { expect, test } from 'bun:test'
import { describeLibraries } from '@test/clients/suite'
import { SEED } from '@test/support/seed'
import { runBurst } from '@test/whole-streams/burst'
import type { FormatName } from '@/chat/format-name'
import { assert } from '@/lib/assert'
import type { JavaLibrary } from './libraries'
import { openJavaLibraries } from './open'

const libraries = await openJavaLibraries()
if (libraries.length > 0) {
  describeLibraries(libraries)

  const byFamily = new Map<FormatName, JavaLibrary>(libraries.map((library) => [library.family, library]))
  test(`a hundred concurrent streams of the Java libraries are complete on a busy machine (seed ${SEED})`, async () => {
    const faults = await runBurst({
      ...{ seed: SEED, streams: 100, pieces: 130 },
      async assemble(client, { baseUrl, key, model }, prompt) {
        const library = byFamily.get(client)
        assert(library, 'there is a library for each format')
        return { ...(await library.ask({ baseUrl, key }, model, prompt)), reasoning: '' }
      },
    })
    expect(faults).toEqual([])
  })
}
