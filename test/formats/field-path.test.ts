/** How errors name the place of a faulty field. */
import { expect, test } from 'bun:test'
import { fieldAt } from '@/formats/field-path'

test.each([
  ['/messages/3/content', '', 'messages[3].content'],
  ['/0/text', 'messages[2].content', 'messages[2].content[0].text'],
  ['/source', 'system[1]', 'system[1].source'],
  ['/labels/a~1b~0c', '', 'labels.a/b~c'],
  ['', '', ''],
])('the path of %j after %j is %j', (pointer, prefix, path) => {
  expect(fieldAt(pointer, prefix)).toBe(path)
})
