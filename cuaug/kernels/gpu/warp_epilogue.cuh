#pragma once

#include "gpu/warp_sample.cuh"
#include "gpu/wide_multiply.cuh"
#include "ops/chain.cuh"
#include "ops/color.cuh"

// The last phases of warp_image: ops on the sampled pixels, and the epilogue, which stores them. `C` is the kernel's
// WarpConfig (gpu/warp_config.cuh).

namespace cuaug {

// Stores the rows of a tile. A warp makes bands of four rows and 32 columns; a lane makes four pixels of one row of the
// band, N at a time: 8 columns apart, or in two pairs (`C::column_offset`).
template <class C, int N>
struct TileStore {
    using Out = typename C::Out;
    using OutLayout = typename C::OutLayout;
    static constexpr int K = C::K;
    static constexpr bool transposes = C::stores_transposed && N == 4, makes_pairs = C::stores_pairs && N == 4;
    using Patches = conditional_t<C::stores_patches, PackedPatchStore<Out>, Int<0>>;

    const WarpBlock<C>& block;
    const int width, band_step;  // the region's width; how many bands the block makes at a time
    const int rows;
    FourPixels<Out, K>* const exchange_row;         // the lane's row of the band, in shared memory
    const FourPixels<Out, K>* const exchange_from;  // the pixels that the lane stores
    const int x_stride;
    const int bands_column;            // first of the 32 columns of the warp's bands
    const int column;                  // of the lane's first pixel
    const int store_column;            // of the first pixel or word that the lane stores, if it stores no patches
    const Array<long long, K> offset;  // of channels
    const Patches patches;
    int band;                      // counted from the tile's first
    int y;                         // the lane's row in the band, counted from the tile's first row
    const int channels;            // to store: of a Strided result, the last group may have fewer than K
    const int lane_row, end_band;  // in bands from `end_band` on the lane's row lies beyond the tile
    bool is_inside;                // the row of the current band lies in the tile
    const int word_end_bands[2];   // in bands before word_end_bands[i] the lane may store all of its word i
    const Transposition<Out> transposition;
    Out* out;
    const long long band_stride;
    WordPixel<Out, 4> channel_pixels[K];  // the lane's four pixels of each channel
    WordPixel<Out, K> left_pixel;         // of a pair

    TileStore(const WarpBlock<C>& block, const typename C::WarpTile& tile)
        : block(block),
          width(block.region().width),
          band_step(block.region().band_step),
          rows(tile.end_row - tile.first_row),
          exchange_row(block.exchange() + (C::stores_via_shared ? block.warp_index : 0) * C::warp_exchange_size +
                       (block.lane >> 3) * (C::warp_exchange_size / 4)),
          exchange_from(exchange_row + (block.lane & 7)),
          x_stride(column_stride<OutLayout, K>(block.args.out.x_stride)),
          bands_column(width > 32 ? 32 * (block.warp_index & 1) : 0),
          column(block.first_column(width)),
          store_column(C::stores_via_shared ? bands_column + 4 * (block.lane & 7)
                       : transposes         ? bands_column + transposed_column<Out>(block.lane)
                                            : column),
          offset(channel_offset_array(block.args.out.c_stride, block.region().channels)),
          patches(patch_store()),
          band(block.warp_index >> (width > 32)),
          channels(is_same_v<OutLayout, Strided> ? min(K, block.region().channels) : K),
          lane_row(block.lane >> 3),
          end_band((rows - lane_row + 3) >> 2),
          word_end_bands{word_end_band(C::stores_via_shared ? 3 : element_column<Out>(elements_per_word<Out> - 1)),
                         word_end_band(element_column<Out>(3))},
          transposition(block.lane),
          out(block.region().out + stored_element() +
              mul_wide(tile.first_row + 4 * band + stored_row(), block.region().out_y_stride)),
          band_stride(mul_wide(4 * band_step, block.region().out_y_stride)) {}

    static Array<long long, K> channel_offset_array(long long stride, int channels) {
        Array<long long, K> out;
        channel_offsets<OutLayout, K>(stride, channels, out.items);
        return out;
    }

    Patches patch_store() const {
        if constexpr (C::stores_patches)
            return {reinterpret_cast<FourElements<Out>*>(block.exchange() + block.warp_index * C::warp_exchange_size),
                    block.lane, width - bands_column, block.args.out_vector_elements != 0};
        else
            return {};
    }

    // Of the pixel, word or vector that the lane stores first: the row in the band, and the element in the region's
    // row.
    int stored_row() const {
        if constexpr (C::stores_patches)
            return patches.row;
        else
            return lane_row;
    }
    long long stored_element() const {
        if constexpr (C::stores_patches)
            return bands_column * K + patches.first_element;
        else
            return element_of_column(store_column);
    }

    // The column stride of a Strided result may be any int, and its product with a column may not fit an int. Other
    // layouts have constant column strides of at most K.
    long long element_of_column(int x) const {
        if constexpr (is_same_v<OutLayout, Strided>)
            return mul_wide(x, x_stride);
        else
            return x * x_stride;
    }

    // In the bands before the returned one all of a word may be stored. `x`: the last column of the word, counted from
    // `store_column`.
    int word_end_band(int x) const {
        return opaque(block.args.out_vector_elements && store_column + x < width ? end_band : 0);
    }

    void begin_band() { y = 4 * band + lane_row, is_inside = band < end_band; }
    void next_band() { band += band_step, out += band_stride; }

    void write(int x, const WordPixel<Out, K>& pixel) const {
        if (is_inside && store_column + x < width)
            for (int k = 0; k < K; ++k)
                if (k < channels) store_as(out + offset.items[k] + element_of_column(x), to_raw_pixel(pixel).c[k]);
    }

    // Takes pixel j of the lane's four.
    void put(int j, const WordPixel<Out, K>& pixel) {
        if constexpr (C::stores_via_shared) {
            reinterpret_cast<WordPixel<Out, K>*>(exchange_row)[(block.lane & 7) + 8 * j] = pixel;
        } else if constexpr (C::stores_patches) {
            patches.store(out, j, pixel, patches.row < 4 && 4 * band + patches.row < rows);
        } else if constexpr (makes_pairs) {
            if (j % 2 == 0)
                left_pixel = pixel;
            else if (band < word_end_bands[j / 2])
                store_pixel_pair(out + C::column_offset(j - 1) * K, left_pixel, pixel);
            else
                write(C::column_offset(j - 1), left_pixel), write(C::column_offset(j), pixel);
        } else {
            write(C::column_offset(j), pixel);
        }
    }

    // Takes N pixels, from pixel `first` on; `pack` makes words of them.
    template <class Pixels, class Pack>
    void put_all(int first, const Pixels& pixels, const Pack& pack) {
        if constexpr (transposes) {
            for (int k = 0; k < K; ++k) channel_pixels[k] = pack(channel_of(pixels, k));
        } else {
#pragma unroll
            for (int i = 0; i < N; ++i) put(first + i, pack(pixels[i]));
        }
    }

    // Called once per band, after `put` or `put_all`: stores the pixels that these have not stored.
    void flush() {
        if constexpr (C::stores_via_shared) {
            __syncwarp();
            const FourPixels<Out, K> four = *exchange_from;
            __syncwarp();
            if (band < word_end_bands[0])
                store_four<OutLayout, Out, K>(out, offset.items, four);
            else
                for (int j = 0; j < 4; ++j) write(j, four.v[j]);
        } else if constexpr (transposes) {
            constexpr int word_elements = elements_per_word<Out>;
            for (int k = 0; k < K; ++k) channel_pixels[k] = transposition(channel_pixels[k]);
            for (int first = 0; first < 4; first += word_elements) {
                if (band < word_end_bands[first / word_elements]) {
                    store_words(out + element_column<Out>(first), offset.items, channel_pixels, first / word_elements);
                } else {
                    for (int i = first; i < first + word_elements; ++i)
                        if (is_inside && store_column + element_column<Out>(i) < width)
                            for (int k = 0; k < K; ++k)
                                store_as(out + offset.items[k] + element_column<Out>(i),
                                         to_raw_pixel(channel_pixels[k]).c[i]);
                }
            }
        }
    }
};

// Applies the ops to N of a lane's four pixels of row y, from pixel `first` on.
template <class C, int N>
inline void apply_ops(const WarpBlock<C>& block, const typename C::WarpTile& tile, int column, int first, int y,
                      Pixel<typename C::R, C::K> (&pixels)[N]) {
    using R = typename C::R;
    PixelContext<R> context[N];
    for (int i = 0; i < N; ++i)
        context[i] = {block.region().left + column + C::column_offset(first + i),
                      block.region().top + tile.first_row + y,
                      block.args.out_width,
                      block.args.out_height,
                      R(max_value<typename C::In>),
                      R(max_value<typename C::Out>),
                      block.region().channel_group};
    C::Ops::of(block.region().params).apply(pixels, context);
}

// Makes N of a lane's four pixels of a row, from pixel `first` on: samples them, applies the ops and hands them to the
// store.
template <class C, int N, class Sampler, class Row>
inline void make_pixels(const WarpBlock<C>& block, const typename C::WarpTile& tile, TileStore<C, N>& store,
                        const Sampler& sampler, const Row& row, int first, typename C::R& luma_sum) {
    using R = typename C::R;
    using Out = typename C::Out;
    constexpr int K = C::K;
    auto to_word = [](const auto& pixel) { return to_word_pixel(pixel); };
    const int y = 4 * store.band + store.lane_row;
    // Without ops, pixels are sampled one by one, unless several are stored together from registers: with the taps of
    // all four loaded first, packed float32 takes 8 % longer.
    if constexpr (!C::applies_ops && !C::stores_transposed && !C::stores_pairs) {
        for (int i = 0; i < N; ++i)
            store.put(first + i, to_word_pixel(sampler(store.column, first + i, y, row, Int<1>()).items[0]));
    } else if constexpr (!C::applies_ops) {
        store.put_all(first, sampler(store.column, first, y, row, Int<N>()).items, to_word);
    } else {
        const auto sampled = sampler(store.column, first, y, row, Int<N>());
        if constexpr (C::may_skip_ops)
            if (block.region().ops_are_identity) return store.put_all(first, sampled.items, to_word);
        Pixel<R, K> pixels[N];
        for (int i = 0; i < N; ++i) pixels[i] = to_unit_range<R>(sampled.items[i]);
        apply_ops(block, tile, store.column, first, y, pixels);
        if constexpr (C::Chain::empty) {  // `pixels` are for the mean alone
            store.put_all(first, sampled.items, to_word);
        } else {
            constexpr bool in_unit_range = is_same_v<typename C::In, uint8> && C::Ops::keeps_unit_range;
            store.put_all(first, pixels, [](const auto& pixel) { return pack_unit_range<Out, in_unit_range>(pixel); });
        }
        if constexpr (C::has_mean)
            for (int i = 0; i < N; ++i)
                if (store.is_inside && store.column + C::column_offset(first + i) < store.width)
                    luma_sum += K == 3 ? luma(pixels[i]) : pixels[i].c[0];
    }
}

// Makes one tile. `N`: pixels that a thread makes at once; 1 on rare paths and for Lanczos, to save registers. `wait`
// waits for the source box, after all other set-up. `sampler.row` loads a band's data one iteration early (loading on
// use costs 3 %), except for coordinate maps, which would spill.
template <class C, int N, class Sampler, class Wait>
inline void make_tile(const WarpBlock<C>& block, const typename C::WarpTile& tile, const Sampler& sampler, Int<N>,
                      const Wait& wait, typename C::R& luma_sum) {
    constexpr bool loads_early = C::Geometry::has_tile_bounds;
    TileStore<C, N> store(block, tile);
    [[maybe_unused]] auto next = sampler.row(store.band);
    wait();
    for (const int bands = (store.rows + 3) >> 2; store.band < bands; store.next_band()) {
        store.begin_band();
        const auto row = [&] {
            if constexpr (loads_early)
                return next;
            else
                return sampler.row(store.band);
        }();
        if constexpr (loads_early) next = sampler.row(store.band + store.band_step);
#pragma unroll N
        for (int first = 0; first < 4; first += N) make_pixels(block, tile, store, sampler, row, first, luma_sum);
        store.flush();
    }
}

}  // namespace cuaug
