/** The inputs of settings forms, made from the rows that define the settings. */
import { Checkbox, NumberInput, Textarea, TextInput } from '@mantine/core'
import type { JSX } from 'react'
import { ModelsField, ProvidersField } from '@/dashboard/components/fields/allowed-fields'
import type { Field } from '@/people/keys/fields'
import { today } from './form-values'

type FieldInputProps = {
  field: Field
  /** The field's props from the form library. */
  input: object
  /** The text of an empty input, such as the default, and the maximum of a number. */
  placeholder?: string
  max?: number
  help?: string
}

/** The input of one setting. */
export function FieldInput({ field, input, ...own }: FieldInputProps): JSX.Element {
  const { kind, label, wire } = field
  const { placeholder = field.example, help: description = field.help, max = field.most } = own
  const named = { label, description, ...input }
  const words = { ...named, placeholder }
  switch (kind) {
    case 'count':
      return <NumberInput {...words} min={1} max={max} allowDecimal={false} thousandSeparator="," hideControls />
    case 'usd':
      return <TextInput {...words} inputMode="decimal" leftSection="$" />
    case 'moment':
      return <TextInput {...named} type="date" min={today()} />
    case 'ids':
      return wire === 'allowedModels' ? <ModelsField {...named} /> : <ProvidersField {...named} />
    case 'networks':
      return <Textarea {...words} autosize minRows={2} maxRows={8} />
    case 'tags':
    case 'regions':
      return <TextInput {...words} />
    case 'flag':
      return <Checkbox {...named} />
  }
}
