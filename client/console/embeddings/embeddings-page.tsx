import { useSignal } from '@preact/signals';
import { Waypoints } from 'lucide';
import { useMemo } from 'preact/hooks';
import { type EmbeddingListReply, type EmbeddingRequest, type Model, requestIdOf } from '../../index.ts';
import { CallForm, submitForm } from '../calls/call-form.tsx';
import { CallPanel } from '../calls/call-panel.tsx';
import { Cost } from '../calls/cost.tsx';
import { useModelInAddress, useModelOptions } from '../calls/models.ts';
import { requireModels } from '../calls/require-models.tsx';
import { outcomeOf, useRun } from '../calls/run.ts';
import { clientSample, samplesOf, shownJson } from '../calls/samples.ts';
import { Workbench } from '../calls/workbench.tsx';
import { useContract } from '../contract/contract.ts';
import { Field } from '../contract/field.tsx';
import { Form } from '../contract/form.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { EmptyState, ErrorNotice } from '../parts/notices.tsx';
import { formatCount, formatDuration } from '../parts/numbers.tsx';
import { gatewayUrl, useClient } from '../session/session.ts';
import './embeddings.css';
import { HeatMap } from './heat-map.tsx';
import { Neighbors } from './neighbors.tsx';
import { TextDrafts } from './texts.ts';
import { TextsField } from './texts-field.tsx';
import { pairTexts } from './vectors.ts';

const firstTexts = [
  'The boat leaves the harbor at dawn.',
  'A fishing boat leaves the harbor before dawn.',
  'The boat returns to the harbor at noon.',
  'The bakery sells warm bread at noon.',
  'Fresh bread from the bakery is still warm.',
];

interface Result {
  texts: readonly string[];
  reply: EmbeddingListReply;
}

/** Embeds texts and compares them. */
function Page({ models }: { models: readonly Model[] }) {
  const client = useClient();
  const loaded = useContract();
  const run = useRun<Result>();
  const { form, drafts } = useMemo(
    () => ({
      form: new Form(loaded, loaded.body('createEmbedding'), {
        model: 'theta-embedding-1',
        input: firstTexts,
      }),
      drafts: new TextDrafts(firstTexts),
    }),
    [loaded],
  );
  const options = useModelOptions(form, ['embeddings']);
  useModelInAddress(models, ({ id }) => form.set('model', id));
  const state = run.state.value;
  const body = form.body.value as EmbeddingRequest;
  return (
    <Workbench
      outcome={outcomeOf(state)}
      form={
        <CallForm
          run={run}
          label="Embed texts"
          onSubmit={() =>
            submitForm(form, run, async (signal) => ({
              texts: drafts.texts.peek(),
              reply: await client.embeddings.create(body, { signal }),
            }))
          }
        >
          <TextsField form={form} drafts={drafts} />
          <Field form={form} path="model" label="Model" hint="" options={options} />
          <Field
            form={form}
            path="dimensions"
            label="Dimensions"
            hint="Length of each vector. Default: that of the model."
          />
          <details>
            <summary>More options</summary>
            <div class="fields">
              <Field form={form} path="encoding_format" label="Encoding" />
              <Field form={form} path="user" label="End user" />
            </div>
          </details>
        </CallForm>
      }
    >
      {state.status === 'failed' && <ErrorNotice error={state.error} />}
      {state.status === 'idle' && (
        <EmptyState icon={Waypoints} title="No vectors yet">
          <p>Embed the texts to see how similar they are.</p>
        </EmptyState>
      )}
      {state.status === 'done' && <Comparison {...state.result} elapsedMs={state.elapsedMs} />}
      <CallPanel samples={embeddingSamples(body)} />
    </Workbench>
  );
}

function Comparison({ texts, reply, elapsedMs }: Result & { elapsedMs: number }) {
  const selected = useSignal(0);
  const items = useMemo(() => pairTexts(texts, reply), [reply]);
  const index = Math.min(selected.value, items.length - 1);
  const requestId = requestIdOf(reply);
  return (
    <>
      <div class="row-between">
        <p class="row secondary numeric">
          <span>{formatCount(reply.usage.input_tokens)} tokens</span>
          <span>{formatDuration(elapsedMs)}</span>
          {requestId && <Cost requestId={requestId} />}
        </p>
        <CopyButton text={JSON.stringify(reply.data)} label="Copy JSON of all vectors">
          Copy JSON
        </CopyButton>
      </div>
      <HeatMap items={items} selected={index} onSelect={(row) => (selected.value = row)} />
      <Neighbors items={items} selected={index} onSelect={(row) => (selected.value = row)} />
    </>
  );
}

function embeddingSamples(body: EmbeddingRequest) {
  const shown = shownJson(body);
  return samplesOf('createEmbedding', body, {
    extra: {
      TypeScript: clientSample(`const { data, usage } = await client.embeddings.create(${shown});`),
      'OpenAI SDK': `import OpenAI from 'openai';

const openai = new OpenAI({
  baseURL: '${gatewayUrl}/v1',
  apiKey: process.env.UNIGATE_API_KEY,
});
const { data, usage } = await openai.embeddings.create(${shown});`,
    },
  });
}

export default requireModels(Page, {
  title: 'Embeddings',
  intro: 'Convert texts to vectors and compare their meaning.',
  icon: Waypoints,
  protocols: ['embeddings'],
  kind: 'embeddings',
});
