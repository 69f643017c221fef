/** An answer's Markdown: HTML stays text, images become links, links lead to the web without a referrer. */
import { Anchor, Box, Text, Typography } from '@mantine/core'
import { Children, isValidElement, type ReactNode } from 'react'
import ReactMarkdown, { type Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { CodeBlock } from '@/dashboard/components/code-block'

/** Where an answer may lead: neither into the dashboard nor into a script. */
const WEB_ADDRESS = /^(https?:\/\/|mailto:)/i
const PLUGINS = [remarkGfm]

export function Markdown({ text }: { text: string }) {
  return (
    <Typography className="answer wrap-anywhere" fz="sm">
      <ReactMarkdown
        remarkPlugins={PLUGINS}
        components={COMPONENTS}
        urlTransform={(url) => (WEB_ADDRESS.test(url) ? url : '')}
      >
        {text}
      </ReactMarkdown>
    </Typography>
  )
}

/** The page's own headings stay the only ones, so that a screen reader finds its way on the page. */
function Heading({ children }: { children?: ReactNode }) {
  return (
    <Text fw={650} size="sm" component="p">
      {children}
    </Text>
  )
}

function WebLink({ href, children }: { href?: string | undefined; children?: ReactNode }) {
  if (!href) return <span>{children}</span>
  return (
    <Anchor href={href} target="_blank" rel="noopener noreferrer nofollow" inherit td="underline">
      {children}
    </Anchor>
  )
}

const COMPONENTS: Components = {
  h1: Heading,
  h2: Heading,
  h3: Heading,
  h4: Heading,
  h5: Heading,
  h6: Heading,
  a: ({ href, children }) => <WebLink href={href}>{children}</WebLink>,
  img: ({ src, alt }) => <WebLink href={typeof src === 'string' ? src : undefined}>{alt || 'Image'}</WebLink>,
  pre: ({ children }) => <CodeBlock code={textOf(children).replace(/\n$/, '')} label="Code" isLandmark={false} />,
  // A box that cannot be ticked has no label either.
  input: ({ checked }) => <span>{checked ? '☑' : '☐'}</span>,
  table: ({ children }) => (
    <Box className="scroll-x" tabIndex={0} role="group" aria-label="Table">
      <table>{children}</table>
    </Box>
  ),
}

function textOf(node: ReactNode): string {
  return Children.toArray(node)
    .map((child) => {
      if (typeof child === 'string') return child
      return isValidElement<{ children?: ReactNode }>(child) ? textOf(child.props.children) : ''
    })
    .join('')
}
