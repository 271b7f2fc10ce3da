import { useSignal } from '@preact/signals';
import { MessagesSquare, Trash2 } from 'lucide';
import { useMemo } from 'preact/hooks';
import type { MessageRequest, Model } from '../../index.ts';
import { CallPanel } from '../calls/call-panel.tsx';
import { useModelInAddress, useModelOptions } from '../calls/models.ts';
import { requireModels } from '../calls/require-models.tsx';
import { useRun } from '../calls/run.ts';
import { type Contract, useContract } from '../contract/contract.ts';
import { Field } from '../contract/field.tsx';
import { Form } from '../contract/form.ts';
import { Button } from '../parts/button.tsx';
import { EmptyState, ErrorNotice } from '../parts/notices.tsx';
import { formatCount } from '../parts/numbers.tsx';
import { useClient } from '../session/session.ts';
import { type Attachment, Attachments } from './attachments.ts';
import { Composer } from './composer.tsx';
import { Conversation, type InputBlock } from './conversation.ts';
import './messages.css';
import { messageSamples } from './samples.ts';
import { ThinkingField } from './thinking-field.tsx';
import { useTokenCount } from './token-count.ts';
import { ToolResults } from './tool-results.tsx';
import { ToolDrafts } from './tools.ts';
import { ToolsField } from './tools-field.tsx';
import { Transcript } from './transcript.tsx';

const initial = {
  model: 'iota-chat-1',
  system: 'You answer sailors in one sentence. Low tide in Vik is at 17:40 today.',
  max_tokens: 1_024,
};
const firstMessage = 'When is low tide in Vik?';

function createState(loaded: Contract) {
  return {
    form: new Form(loaded, loaded.body('createMessage'), initial),
    drafts: new ToolDrafts(loaded),
    attachments: new Attachments(loaded),
    conversation: new Conversation(),
  };
}

/** Returns the blocks of the message that the user writes. */
function nextContent(text: string, files: readonly Attachment[]): InputBlock[] {
  const images = files.map(({ block }) => block);
  return text.trim() === '' ? images : [...images, { type: 'text', text: text.trim() }];
}

/** Chat with a model: streaming, tools, images. */
function Workbench({ models }: { models: readonly Model[] }) {
  const client = useClient();
  const loaded = useContract();
  const run = useRun<void>();
  const text = useSignal(firstMessage);
  const { form, drafts, conversation, attachments } = useMemo(() => createState(loaded), [loaded]);
  const options = useModelOptions(form, ['messages']);
  useModelInAddress(models, ({ id }) => form.set('model', id));
  const state = run.state.value;
  const isStreaming = state.status === 'running';
  const openToolUses = conversation.openToolUses.value;
  const isWriting = !isStreaming && openToolUses.length === 0;

  const { value: body } = form.body;
  const { value: messages } = conversation.messages;
  const next = nextContent(text.value, attachments.files.value);
  const request = useMemo((): MessageRequest => {
    const pending = isWriting && next.length > 0 ? [{ role: 'user', content: next }] : [];
    return { ...body, messages: [...messages, ...pending] } as MessageRequest;
  }, [body, messages, text.value, attachments.files.value, isWriting]);
  const tokens = useTokenCount(request, isStreaming);
  // Long conversations are not written out again for each event of a stream.
  const samples = useMemo(() => messageSamples(request), [isStreaming || request]);

  const isValid = () => form.checkAll() && drafts.problems.value.every((problem) => problem === undefined);
  /** Sends the conversation as it is. */
  const send = () => {
    const sent = { ...body, messages: conversation.messages.peek() } as MessageRequest;
    void run.start(async (signal) => {
      try {
        await conversation.receive(client.messages.events(sent, { signal }), signal);
      } catch (error) {
        form.reject(error);
        throw error;
      }
    });
  };
  const say = (content: readonly InputBlock[]) => {
    if (!isValid()) return;
    text.value = '';
    attachments.removeAll();
    conversation.say(content);
    send();
  };
  return (
    <div class="workbench chat-workbench">
      <section class="card chat" aria-label="Chat">
        <Transcript
          turns={conversation.turns.value}
          onEdit={() => {
            const content = conversation.removeLastQuestion();
            text.value = content.map((block) => (block.type === 'text' ? String(block.text) : '')).join('');
            attachments.restore(content);
            run.reset();
          }}
          onRetry={() => {
            if (!isValid()) return;
            conversation.dropAnswer();
            send();
          }}
        >
          {conversation.turns.value.length === 0 && (
            <EmptyState icon={MessagesSquare} title="No messages yet">
              <p>Send the message below, or write your own.</p>
            </EmptyState>
          )}
          {state.status === 'failed' && <ErrorNotice error={state.error} />}
        </Transcript>
        {openToolUses.length > 0 ? (
          <ToolResults uses={openToolUses} onSend={say} />
        ) : (
          <Composer
            text={text.value}
            attachments={attachments}
            isStreaming={isStreaming}
            onInput={(value) => (text.value = value)}
            onSend={() => say(next)}
            onStop={() => run.stop()}
          />
        )}
        <div class="row-between chat-foot">
          <span class="field-hint numeric">
            {tokens === undefined ? 'Enter sends the message.' : `${formatCount(tokens)} input tokens`}
          </span>
          <Button
            small
            variant="plain"
            icon={Trash2}
            disabled={isStreaming || conversation.turns.value.length === 0}
            onClick={() => {
              run.reset();
              conversation.clear();
            }}
          >
            Clear
          </Button>
        </div>
      </section>
      <section class="card fields chat-settings" aria-label="Settings">
        <Field form={form} path="model" label="Model" hint="" options={options} />
        <Field
          form={form}
          path="system"
          label="System prompt"
          hint="Instructions for the whole conversation."
          rows={4}
        />
        <Field form={form} path="max_tokens" label="Maximum tokens" hint="Limit of each answer." />
        <Field
          form={form}
          path="temperature"
          label="Temperature"
          hint="Lower values make answers more predictable."
        />
        <ToolsField form={form} drafts={drafts} />
        <details>
          <summary>More options</summary>
          <div class="fields">
            <Field form={form} path="top_p" label="Top P" />
            <Field form={form} path="top_k" label="Top K" />
            <ThinkingField form={form} />
            <Field form={form} path="service_tier" label="Service tier" />
            <Field form={form} path="metadata.user_id" label="End user" />
          </div>
        </details>
      </section>
      <CallPanel samples={samples} />
    </div>
  );
}

export default requireModels(Workbench, {
  title: 'Messages',
  intro: 'Chat with a model. Each request sends the whole conversation.',
  icon: MessagesSquare,
  protocols: ['messages'],
  kind: 'messages',
});
