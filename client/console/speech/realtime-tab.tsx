import { useMemo } from 'preact/hooks';
import { useModelInAddress, useModels } from '../calls/models.ts';
import { useLoaded } from '../calls/run.ts';
import { Contract, type ContractDocument } from '../contract/contract.ts';
import { Form } from '../contract/form.ts';
import { ErrorNotice } from '../parts/notices.tsx';
import { useClient } from '../session/session.ts';
import { route } from '../shell/router.ts';
import { RealtimeSpeech } from './realtime-speech.tsx';

const defaultModel = 'alpha3-tts-flash-realtime';

/** Loads the contract of the events, from which the form is made. */
export function RealtimeTab() {
  const client = useClient();
  const models = useModels(['realtime']);
  const loaded = useLoaded(async (signal) => {
    const { info, components } = (await client.service.asyncApiDocument({
      signal,
    })) as unknown as ContractDocument;
    return new Contract({ info, components, paths: {} });
  }).state.value;
  const contract = loaded.status === 'done' ? loaded.result : undefined;
  const form = useMemo(() => {
    const { query } = route.peek();
    const named = models?.find(({ id }) => id === query.get('model'));
    const model = named ?? models?.find(({ id }) => id === defaultModel) ?? models?.[0];
    if (contract === undefined || model === undefined) return undefined;
    const session = contract.component('RealtimeSessionOptions');
    const properties = { ...session.properties, model: { type: 'string' } };
    const schema = { ...session, properties, required: [...(session.required ?? []), 'model'] };
    return new Form(contract, schema, {
      model: model.id,
      ...(named && { voice: query.get('voice') ?? undefined }),
    });
  }, [contract, models !== undefined]);
  useModelInAddress(form && models, ({ id }) => form?.set('model', id));
  if (loaded.status === 'failed') return <ErrorNotice error={loaded.error} />;
  if (models?.length === 0) return <p class="notice">This key can use no realtime model.</p>;
  return form && models ? <RealtimeSpeech form={form} models={models} /> : null;
}
