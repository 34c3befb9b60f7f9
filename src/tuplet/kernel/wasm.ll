; What kernels call that WebAssembly does not have. Only what is called stays in the module.

; Arrays that kernels make for themselves: a stack of blocks, freed from the top. A block begins with Numba's MemInfo,
; whose third field, unused here, is the block below.
%block = type { i64, ptr, ptr, ptr, i64 }
@arena = internal global [4194304 x i8] zeroinitializer, align 64
@top = internal global ptr null
@used = internal global i32 0

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %from = load i32, ptr @used
  %block = getelementptr i8, ptr @arena, i32 %from
  %wide = trunc i64 %size to i32
  %more = add i32 %wide, 127
  %whole = and i32 %more, -64
  %to = add i32 %from, %whole
  %fits = icmp ule i32 %to, 4194304
  br i1 %fits, label %good, label %full
full:
  call void @llvm.trap()
  unreachable
good:
  store i32 %to, ptr @used
  store i64 1, ptr %block
  %below = load ptr, ptr @top
  %link = getelementptr %block, ptr %block, i32 0, i32 2
  store ptr %below, ptr %link
  %data = getelementptr i8, ptr %block, i32 64
  %place = getelementptr %block, ptr %block, i32 0, i32 3
  store ptr %data, ptr %place
  store ptr %block, ptr @top
  ret ptr %block
}

define ptr @NRT_MemInfo_alloc_safe_aligned(i64 %size, i32 %align) {
  %block = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align)
  ret ptr %block
}

; A block that nothing refers to any more: it leaves the stack with those above it that are free, too.
define void @NRT_MemInfo_call_dtor(ptr %freed) {
  br label %loop
loop:
  %block = load ptr, ptr @top
  %none = icmp eq ptr %block, null
  br i1 %none, label %done, label %look
look:
  %count = load i64, ptr %block
  %live = icmp ne i64 %count, 0
  br i1 %live, label %done, label %drop
drop:
  %link = getelementptr %block, ptr %block, i32 0, i32 2
  %below = load ptr, ptr %link
  store ptr %below, ptr @top
  %here = ptrtoint ptr %block to i32
  %start = ptrtoint ptr @arena to i32
  %from = sub i32 %here, %start
  store i32 %from, ptr @used
  br label %loop
done:
  ret void
}

define double @sqrt(double %x) {
  %root = call double @llvm.sqrt.f64(double %x)
  ret double %root
}

; The clock of the page, in seconds, as the C library gives it: seconds and nanoseconds.
declare double @tuplet_monotonic()

define i32 @clock_gettime(i32 %kind, ptr %reading) {
  %now = call double @tuplet_monotonic()
  %whole = call double @llvm.floor.f64(double %now)
  %seconds = fptosi double %whole to i64
  store i64 %seconds, ptr %reading
  %rest = fsub double %now, %whole
  %scaled = fmul double %rest, 1.0e9
  %nanos = fptosi double %scaled to i64
  %second = getelementptr i64, ptr %reading, i32 1
  store i64 %nanos, ptr %second
  ret i32 0
}

; Bytes by index in each half of a vector, as AVX2's pshufb; an index of 128 or more gives 0.
define <32 x i8> @tuplet_shuffle_bytes(<32 x i8> %bytes, <32 x i8> %mask) alwaysinline {
  %b0 = shufflevector <32 x i8> %bytes, <32 x i8> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %b1 = shufflevector <32 x i8> %bytes, <32 x i8> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %m0 = shufflevector <32 x i8> %mask, <32 x i8> poison, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
  %m1 = shufflevector <32 x i8> %mask, <32 x i8> poison, <16 x i32> <i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  %r0 = call <16 x i8> @llvm.wasm.swizzle(<16 x i8> %b0, <16 x i8> %m0)
  %r1 = call <16 x i8> @llvm.wasm.swizzle(<16 x i8> %b1, <16 x i8> %m1)
  %both = shufflevector <16 x i8> %r0, <16 x i8> %r1, <32 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15, i32 16, i32 17, i32 18, i32 19, i32 20, i32 21, i32 22, i32 23, i32 24, i32 25, i32 26, i32 27, i32 28, i32 29, i32 30, i32 31>
  ret <32 x i8> %both
}

declare <16 x i8> @llvm.wasm.swizzle(<16 x i8>, <16 x i8>)
declare void @llvm.trap()
declare double @llvm.sqrt.f64(double)
declare double @llvm.floor.f64(double)
