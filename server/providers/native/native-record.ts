import type { components } from '../../../generated/http.ts';

/** What is kept of a native answer for the native poll: `native` of a `VideoResult`, without ids. */
export interface NativeRecord {
  output?: {
    orig_prompt?: string;
    actual_prompt?: string;
    video_url?: string;
    results?: components['schemas']['Model3dResults'];
  };
  usage?: components['schemas']['GammaUsage'];
}
