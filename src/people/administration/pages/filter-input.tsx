/** A text filter above a list, applied after a pause in typing. */
import { TextInput, type TextInputProps } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'

type FilterInputProps = Omit<TextInputProps, 'value' | 'onChange'> & {
  value: string
  change(text: string): void
}

const TYPING_PAUSE_MS = 300

export function FilterInput({ value, change, ...field }: FilterInputProps) {
  const [text, setText] = useState(value)
  const told = useRef(value)
  const tell = useDebouncedCallback((typed: string) => {
    told.current = typed.trim()
    change(told.current)
  }, TYPING_PAUSE_MS)
  useEffect(() => {
    if (value === told.current) return
    told.current = value
    setText(value)
  }, [value])
  return (
    <TextInput
      {...field}
      value={text}
      onChange={(event) => {
        setText(event.currentTarget.value)
        tell(event.currentTarget.value)
      }}
    />
  )
}
