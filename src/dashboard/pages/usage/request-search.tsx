/** The field in which somebody pastes a request id, as a log or an error message told it, to see what became of that request. */
import { ActionIcon, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useState } from 'react'

/** What can be an id at all; anything else is not asked for. */
const REQUEST_ID = /^[\x21-\x7e]{1,300}$/

/** Calls `find` with what was typed, without the blanks around it. */
export function RequestSearch({ find }: { find(requestId: string): void }) {
  const [text, setText] = useState('')
  const [isWrong, setWrong] = useState(false)
  return (
    <form
      className="no-print"
      onSubmit={(event) => {
        event.preventDefault()
        const id = text.trim()
        setWrong(!REQUEST_ID.test(id))
        if (REQUEST_ID.test(id)) find(id)
      }}
    >
      <TextInput
        aria-label="Find by request id"
        placeholder="req_…"
        size="sm"
        w={260}
        value={text}
        error={isWrong && 'Paste the x-request-id of one request.'}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setWrong(false)
        }}
        rightSection={
          <ActionIcon type="submit" variant="subtle" color="gray" aria-label="Find the request">
            <IconSearch size={16} />
          </ActionIcon>
        }
      />
    </form>
  )
}
