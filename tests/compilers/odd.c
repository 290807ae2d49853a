#include <stdio.h>
#include <stdlib.h>
#define N 300
static double in[N][N], out[N][N];
static void cond(void){ double (*t)[N]=malloc(sizeof(double[N][N])); for(int y=0;y<N;y++)for(int x=0;x<N;x++)t[y][x]=0; for(int y=0;y<N;y++)for(int x=0;x<N;x++){ if(in[y][x]>3) t[y][x]=in[y][x]; if(y>=1) out[y][x]+=t[y-1][x]+t[y][x]; } free(t);}
static void zeros(void){ double (*t)[N]=calloc(N,sizeof(double[N])); for(int y=0;y<N;y++)for(int x=0;x<N;x++){ if(x>5) t[y][x]=in[y][x]; if(y>=1) out[y][x]+=t[y-1][x]+t[y][x]; } free(t);}
static void twice(int r){ double (*t)[N]=malloc(sizeof(double[N][N])); for(int k=0;k<r;k++){ for(int y=0;y<N;y++)for(int x=0;x<N;x++){ t[y][x]=in[y][x]*k; if(y>=1) out[y][x]+=t[y-1][x]+t[y][x]; } if(out[3][3]>1e9) break; } free(t);}
static void after(void){ double (*t)[N]=malloc(sizeof(double[N][N])); for(int y=0;y<N;y++)for(int x=0;x<N;x++){ t[y][x]=in[y][x]; if(y>=1) out[y][x]+=t[y-1][x]; } printf("%f\n", t[7][7]); free(t);}
static void stack(void){ double t[N][N/4]; for(int y=0;y<N;y++)for(int x=0;x<N/4;x++){ t[y][x]=in[y][x]*3; if(y>=2) out[y][x]+=t[y-2][x]+t[y][x]; } }
static void same(void){ double *t=malloc(sizeof(double)*N); for(int i=0;i<N;i++){ t[i]=in[0][i]; if(i>=1){ out[0][i]+=t[i-1]; t[i-1]=5; out[1][i]+=t[i]+t[i-1]; } } free(t);}
__attribute__((noinline)) void para(int n, double a[n][n], double b[n][n]){ double (*t)[n]=malloc(sizeof(double)*n*n); for(int y=0;y<n;y++)for(int x=0;x<n;x++){ t[y][x]=a[y][x]*2; if(y>=3) b[y][x]=t[y-3][x]+t[y-1][x]; } free(t);}
__attribute__((noinline)) void gather(int *idx){ double *t=malloc(sizeof(double)*N); for(int i=0;i<N;i++) t[i]=in[1][i]; for(int i=0;i<N;i++) out[2][i]+=t[idx[i]]; free(t);}
__attribute__((noinline)) void rev(void){ double *t=malloc(sizeof(double)*N); for(int i=N-1;i>=0;i--){ t[i]=in[2][i]; if(i<N-2) out[3][i]+=t[i+2]-t[i+1]; } free(t);}
static void quiet(void){ static double t[N][N]; for(int y=0;y<N;y++)for(int x=0;x<N;x++){ t[y][x]=in[y][x]*5; if(y>=1) out[y][x]+=t[y-1][x]-t[y][x]; } }
static void state(void){ static double t[N]; for(int i=0;i<N;i++){ out[4][i]+=t[i]; t[i]=in[3][i]; } }
static double *shown(void){ static double t[N]; for(int i=0;i<N;i++){ t[i]=in[5][i]; out[5][i]+=t[i]; } return t; }
static void asked(void){ double *t=malloc(sizeof(double)*N); for(int i=0;i<N;i++){ t[i]=in[6][i]; if(i>=1) out[6][i]+=t[i-1]+t[i]; } if(t) free(t);}
int main(void){ int idx[N]; for(int y=0;y<N;y++){ idx[y]=(y*37)%N; for(int x=0;x<N;x++) in[y][x]=(y*7+x*3)%11; }
 quiet(); state(); state(); out[7][0]=shown()[5]; asked(); cond(); zeros(); twice(3); after(); stack(); same(); gather(idx); rev();
 for(int n=0;n<9;n++) para(n,(double(*)[n])in,(double(*)[n])out);
 para(200,(double(*)[200])in,(double(*)[200])out);
 double s=0; for(int y=0;y<N;y++)for(int x=0;x<N;x++) s+=out[y][x]*((x+2*y)%13); printf("%.6f\n",s); }
