import type { JsonObject } from '../../http/json-body.ts';
import { invalidParameter, NativeError } from '../../http/native-error.ts';
import type { ModelPlan } from '../../media/jobs.ts';
import { resolveModel } from '../../models.ts';
import { Parameters } from '../../native/parameters.ts';
import { hourMs } from '../../tasks/protocol.ts';
import type { CreateOutput } from '../../tasks/task-board.ts';
import type { Triggers } from '../../triggers.ts';
import { model3dLimits } from '../media-limits.ts';
import type { VideoServices } from '../video-services.ts';
import type { NativeOutput } from './video-work.ts';

/** A 3D request with default values: a prompt, or views from the front, left, back and right. */
export interface Model3dRequest {
  model: string;
  /** Empty for a request with images. */
  prompt: string;
  views: readonly (string | undefined)[];
  /** Undefined for a model without a texture. */
  textureSize: number | undefined;
  pbr: boolean;
  fine: boolean;
}

const maxPromptCharacters = 1024;
const textureSizes = { standard: 512, detailed: 1024 };
const lifetimeMs = 2 * hourMs;

/** Reads the body of a 3D request. Throws a `NativeError` if a field is invalid. */
export function readModel3dRequest(body: JsonObject): Model3dRequest {
  const request = new Parameters(body, '');
  if (body.model === undefined) throw new NativeError(400, 'BadRequest.EmptyModel', 'model is required');
  const { id: model } = resolveModel(body.model, 'native_3d');
  const input = request.object('input');
  if (!input) throw new NativeError(400, 'BadRequest.EmptyInput', 'input is required');
  const kinds = ['prompt', 'image', 'images'].filter((name) => input.has(name));
  if (kinds.length !== 1) throw invalidParameter('input must have exactly one of prompt, image and images');

  const parameters = request.object('parameters') ?? new Parameters({}, 'parameters');
  const quality = parameters.choice('texture_quality', ['standard', 'detailed'], 'standard');
  const texture = parameters.flag('texture', true);
  const pbr = parameters.flag('pbr', true);
  if (!texture && pbr) throw parameters.invalid('pbr', 'must be false when texture is false');
  return {
    model,
    prompt: input.has('prompt') ? input.limitedString('prompt', maxPromptCharacters) : '',
    views: input.has('image') ? [input.requiredString('image')] : readViews(input),
    textureSize: texture ? textureSizes[quality] : undefined,
    pbr,
    fine: parameters.choice('geometry_quality', ['standard', 'ultra'], 'standard') === 'ultra',
  };
}

function readViews(input: Parameters): (string | undefined)[] {
  if (!input.has('images')) return [];
  const views = input.objects('images', 4).map((view) => {
    if (!view.has('type') && !view.has('file_token')) return undefined;
    if (view.optionalChoice('type', ['jpeg', 'png']) === undefined) throw view.invalid('type', 'is required');
    return view.requiredString('file_token');
  });
  if (views.length !== 4)
    throw input.invalid('images', 'must have exactly four members: front, left, back, right');
  if (views[0] === undefined) throw input.invalid('images[0]', 'must not be empty');
  return views;
}

/** Loads the images of a request and renders its model. Throws a `TaskFailure` if an image exceeds a limit. */
export async function runModel3dJob(
  { media, results, engine }: VideoServices,
  request: Model3dRequest,
  triggers: Triggers,
): Promise<CreateOutput<NativeOutput>> {
  const views = await Promise.all(
    request.views.map(async (url) =>
      url === undefined ? undefined : (await media.load('image', url, model3dLimits.image)).thumbnail,
    ),
  );
  const { prompt, textureSize, pbr, fine } = request;
  const plan: ModelPlan = { prompt, views, textureSize, pbr, fine };
  const model = await engine.run('renderModel', plan);
  const preview = await engine.run('renderModelPreview', plan);
  return (endedAt) => {
    const expiresAt = triggers.has('expired-url') ? 1 : endedAt + lifetimeMs;
    const url = results.storeAndSign(model, 'glb', expiresAt);
    return {
      output: {
        ...(prompt !== '' && { orig_prompt: prompt }),
        results: {
          ...(pbr ? { pbr_model_url: url } : { base_model_url: url }),
          rendered_image_url: results.storeAndSign(preview, 'webp', expiresAt),
        },
      },
    };
  };
}
