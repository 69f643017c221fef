/** For everything that customers share, the fault suite has a fault in which one account abuses it. */
import { expect, test } from 'bun:test'
import { FAULTS } from '@faults/cases/index'
import { SHARED } from '@/limits/shared-resources'

test('each shared resource has a fault in the fault suite, in which one account abuses it', () => {
  const ids = FAULTS.map(({ id }) => id).filter((id) => id.startsWith('C15.'))
  expect(ids.sort()).toEqual(
    Object.keys(SHARED)
      .map((resource) => `C15.${resource}`)
      .sort(),
  )
})
