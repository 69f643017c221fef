/** The dialog before a member's role changes or a member leaves: their keys and invitations are revoked or kept. */
import { Checkbox, List, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { DialogForm } from '@/dashboard/components/fields/dialog-form'
import { useSubmission } from '@/dashboard/components/fields/use-submission'
import type { Credential, Fate } from './members-data'

type Question = {
  title: string
  body: string
  action: string
  /** The member's credentials that the new role may not have. */
  lost: readonly Credential[]
  /** The account's own keys whose texts the member has seen. */
  known: readonly Credential[]
  isHarmless?: boolean
  /** API keys of a departing member always end, since nobody would own them. */
  isLeaving?: boolean
  run(fate: Fate): Promise<unknown>
}

const KIND_WORDS: Record<Credential['kind'], string> = {
  api_key: 'API key',
  management_key: 'Management key',
  invitation: 'Invitation of',
  service_key: 'Service key',
}

export function askAboutMember(question: Question): void {
  const id = modals.open({
    title: question.title,
    centered: true,
    children: <Asked question={question} close={() => modals.close(id)} />,
  })
}

function Asked({ question, close }: { question: Question; close(): void }) {
  const { body, action, lost, known, isHarmless = false, isLeaving = false, run } = question
  const form = useForm({ initialValues: { isKept: false } })
  const submission = useSubmission(form, async ({ isKept }) => {
    await run(isKept ? 'keep' : 'revoke')
    close()
  })
  const mayStay = lost.filter(({ kind }) => kind === 'management_key' || (kind === 'api_key' && !isLeaving))
  const ending = form.values.isKept ? lost.filter((one) => !mayStay.includes(one)) : lost
  return (
    <DialogForm
      submission={submission}
      cancel={close}
      action={action}
      isDestructive={!isHarmless}
      lead={
        <>
          <Text size="sm" className="wrap-anywhere">
            {body}
          </Text>
          {ending.length > 0 && <Named lead="This ends at once; programs that use it stop:" items={ending} />}
          {known.length > 0 && <Named lead="These keys of the account stay. Rotate them:" items={known} />}
        </>
      }
    >
      {mayStay.length > 0 && (
        <Checkbox
          label={isLeaving ? 'Keep management keys working' : 'Keep keys working'}
          {...form.getInputProps('isKept', { type: 'checkbox' })}
        />
      )}
    </DialogForm>
  )
}

function Named({ lead, items }: { lead: string; items: readonly Credential[] }) {
  return (
    <div>
      <Text size="sm">{lead}</Text>
      <List size="sm" className="wrap-anywhere" mah={220} style={{ overflowY: 'auto' }}>
        {items.map(({ kind, id, name }) => (
          <List.Item key={id}>
            {KIND_WORDS[kind]} <b>{name}</b>
          </List.Item>
        ))}
      </List>
    </div>
  )
}
